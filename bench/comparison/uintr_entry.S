// Where the processor goes at a user interrupt. On the stack then, 16-byte aligned, below the red zone of what was interrupted:
//   0 vector   8 rip   16 rflags   24 rsp
// Saved here: the general registers that a call does not keep, and by XSAVEC all vector and floating-point state. UIRET as bytes, for assemblers that
// do not know it. Not tested on hardware.
#if defined(__x86_64__) && defined(__linux__)
	.text
	.globl	heddle_uintr_entry
	.hidden	heddle_uintr_entry
	.type	heddle_uintr_entry, @function
	.p2align 4
heddle_uintr_entry:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 3, 0x77, 24, 0x06		// canonical frame address: what lies at rsp + 24
	.cfi_escape 0x10, 16, 2, 0x77, 8		// rip at rsp + 8
	pushq	%rbp
	movq	%rsp, %rbp
	.cfi_escape 0x0f, 3, 0x76, 32, 0x06		// the same by rbp
	.cfi_escape 0x10, 16, 2, 0x76, 16
	.cfi_escape 0x10, 6, 2, 0x76, 0
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	subq	heddle_uintr_state_bytes(%rip), %rsp
	andq	$-64, %rsp
	xorl	%eax, %eax				// the header of the area: XRSTOR wants zeros where XSAVEC writes nothing
	movq	%rax, 512(%rsp)
	movq	%rax, 520(%rsp)
	movq	%rax, 528(%rsp)
	movq	%rax, 536(%rsp)
	movq	%rax, 544(%rsp)
	movq	%rax, 552(%rsp)
	movq	%rax, 560(%rsp)
	movq	%rax, 568(%rsp)
	movl	heddle_uintr_state_mask(%rip), %eax
	movl	heddle_uintr_state_mask+4(%rip), %edx
	xsavec	(%rsp)
	cld
	call	heddle_user_interrupt@PLT
	movl	heddle_uintr_state_mask(%rip), %eax
	movl	heddle_uintr_state_mask+4(%rip), %edx
	xrstor	(%rsp)
	leaq	-72(%rbp), %rsp				// nine registers
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popq	%rbp
	.cfi_escape 0x0f, 3, 0x77, 24, 0x06
	.cfi_escape 0x10, 16, 2, 0x77, 8
	.cfi_same_value %rbp
	addq	$8, %rsp				// the vector
	.cfi_escape 0x0f, 3, 0x77, 16, 0x06
	.cfi_escape 0x10, 16, 2, 0x77, 0
	.byte	0xf3, 0x0f, 0x01, 0xec			// uiret
	.cfi_endproc
	.size	heddle_uintr_entry, . - heddle_uintr_entry
#endif
	.section .note.GNU-stack, "", @progbits
