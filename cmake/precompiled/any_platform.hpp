// Behind the other headers of what the real and the simulated library have in common: a source among these that asks
// for which of the two it is compiled is refused.
#pragma GCC poison HEDDLE_SIM
