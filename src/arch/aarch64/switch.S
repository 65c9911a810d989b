// Context switch, AArch64 (AAPCS64). Saved: x19-x30, d8-d15, FPCR.
//
// void heddle_switch(void** save_sp, void* load_sp, void (*after)(void*, void*), void* a, void* b)
//                    x0              x1             x2                             x3       x4
// Saves the caller, moves to the stack of load_sp, calls after(a, b) there, and continues that context.
    .text
    .p2align 4
    .globl heddle_switch
    .hidden heddle_switch
    .type heddle_switch, %function
heddle_switch:
    .cfi_startproc
    sub    sp, sp, #176
    .cfi_adjust_cfa_offset 176
    stp    x19, x20, [sp]
    stp    x21, x22, [sp, #16]
    stp    x23, x24, [sp, #32]
    stp    x25, x26, [sp, #48]
    stp    x27, x28, [sp, #64]
    stp    x29, x30, [sp, #80]
    stp    d8, d9, [sp, #96]
    stp    d10, d11, [sp, #112]
    stp    d12, d13, [sp, #128]
    stp    d14, d15, [sp, #144]
    .cfi_rel_offset x19, 0
    .cfi_rel_offset x20, 8
    .cfi_rel_offset x21, 16
    .cfi_rel_offset x22, 24
    .cfi_rel_offset x23, 32
    .cfi_rel_offset x24, 40
    .cfi_rel_offset x25, 48
    .cfi_rel_offset x26, 56
    .cfi_rel_offset x27, 64
    .cfi_rel_offset x28, 72
    .cfi_rel_offset x29, 80
    .cfi_rel_offset x30, 88
    mrs    x9, fpcr
    str    x9, [sp, #160]
    mov    x10, sp
    str    x10, [x0]
    ldr    x11, [x1, #160]
    cmp    x9, x11
    b.eq   .Ltake_over
    msr    fpcr, x11
.Ltake_over:                        // x1, x2, x3, x4 as above; FPCR is right
    mov    sp, x1
    mov    x0, x3
    mov    x1, x4
    blr    x2
    ldp    x19, x20, [sp]
    ldp    x21, x22, [sp, #16]
    ldp    x23, x24, [sp, #32]
    ldp    x25, x26, [sp, #48]
    ldp    x27, x28, [sp, #64]
    ldp    x29, x30, [sp, #80]
    ldp    d8, d9, [sp, #96]
    ldp    d10, d11, [sp, #112]
    ldp    d12, d13, [sp, #128]
    ldp    d14, d15, [sp, #144]
    add    sp, sp, #176
    .cfi_adjust_cfa_offset -176
    ret                             // keeps the return predictor in step: see the x86-64 version
    .cfi_endproc
    .size heddle_switch, . - heddle_switch

// void heddle_spawn(void** save_sp, void* stack_top, void (*after)(void*), void* a, void (*entry)(void*), void* argument)
//                   x0              x1               x2                    x3       x4                     x5
// Leaves the caller resumable at *save_sp, as heddle_switch does, moves to stack_top, calls after(a), then
// entry(argument). If entry returns, no thread has resumed the caller, and the caller goes on by an ordinary return,
// its registers untouched. If another thread has resumed the caller, entry does not return.
    .p2align 4
    .globl heddle_spawn
    .hidden heddle_spawn
    .type heddle_spawn, %function
heddle_spawn:
    .cfi_startproc
    sub    sp, sp, #176
    .cfi_adjust_cfa_offset 176
    stp    x19, x20, [sp]
    stp    x21, x22, [sp, #16]
    stp    x23, x24, [sp, #32]
    stp    x25, x26, [sp, #48]
    stp    x27, x28, [sp, #64]
    stp    x29, x30, [sp, #80]
    stp    d8, d9, [sp, #96]
    stp    d10, d11, [sp, #112]
    stp    d12, d13, [sp, #128]
    stp    d14, d15, [sp, #144]
    mrs    x9, fpcr
    str    x9, [sp, #160]
    mov    x19, sp
    .cfi_def_cfa x19, 176
    .cfi_offset x19, -176
    .cfi_offset x20, -168
    .cfi_offset x21, -160
    .cfi_offset x29, -96
    .cfi_offset x30, -88
    str    x19, [x0]
    mov    x20, x4
    mov    x21, x5
    .cfi_remember_state
    mov    sp, x1                   // the end of the stack for unwinders: see the x86-64 version
    .cfi_undefined x30
    .cfi_def_cfa sp, 0
    mov    x0, x3
    blr    x2
    mov    x0, x21
    blr    x20
    mov    sp, x19
    .cfi_restore_state
    .cfi_def_cfa sp, 176
    ldp    x29, x30, [sp, #80]
    ldp    x21, x22, [sp, #16]
    ldp    x19, x20, [sp]
    add    sp, sp, #176
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size heddle_spawn, . - heddle_spawn

// The first code of a new context: entry function in x19, its argument in x20. When it returns, heddle_depart(argument)
// says where to go: {stack pointer, after, a, b}. This marks the end of the stack for unwinders.
    .p2align 4
    .globl heddle_start
    .hidden heddle_start
    .type heddle_start, %function
heddle_start:
    .cfi_startproc
    .cfi_undefined x30
    mov    x0, x20
    mov    x29, xzr
    mov    x30, xzr
    blr    x19
.Ldepart:
    mov    x0, x20
    bl     heddle_depart
    mov    x9, x0
    ldp    x1, x2, [x9]
    ldp    x3, x4, [x9, #16]
    ldr    x11, [x1, #160]
    msr    fpcr, x11
    b      .Ltake_over
    .cfi_endproc
    .size heddle_start, . - heddle_start

// void heddle_end(void* argument): called instead of a return by a context that heddle_spawn has begun and whose
// spawner has gone on elsewhere. The context's stack is dead below this frame.
    .p2align 4
    .globl heddle_end
    .hidden heddle_end
    .type heddle_end, %function
heddle_end:
    .cfi_startproc
    .cfi_undefined x30
    mov    x20, x0
    b      .Ldepart
    .cfi_endproc
    .size heddle_end, . - heddle_end
    .section .note.GNU-stack, "", %progbits
