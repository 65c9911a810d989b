// A module with a variable in the static block of every thread,
// though it is loaded later; VALUE is what it is to begin with.
static __thread long values[8]
    __attribute__((tls_model("initial-exec"))) = {VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE};
long initial_exec_get(void) { return values[3]; }
void initial_exec_set(long value) { values[3] = value; }
