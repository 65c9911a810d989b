// A program without OpenMP.
int main(void) { return 0; }
