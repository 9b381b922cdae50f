/* What the reference LAPACK expects from a Fortran run-time library and from its caller. This file
 * is joined with the LAPACK routines before anything else is linked (cmake/lapack.cmake); its
 * symbols are local to them. */
#include <stddef.h>
#include <string.h>

void xerbla_(const char *routine, const int *argument, size_t routine_length);
void _gfortran_concat_string(size_t length, char *joined, size_t a_length, const char *a,
                             size_t b_length, const char *b);

/* LAPACK calls this for a wrong argument and then returns with info < 0, which is enough: the
 * original prints and stops the program. */
void xerbla_(const char *routine, const int *argument, size_t routine_length) {
    (void)routine;
    (void)argument;
    (void)routine_length;
}

/* joined = a // b, cut or padded with blanks to `length` (Fortran 2003, 7.2.2). */
void _gfortran_concat_string(size_t length, char *joined, size_t a_length, const char *a,
                             size_t b_length, const char *b) {
    size_t from_a = a_length < length ? a_length : length;
    size_t left = length - from_a;
    size_t from_b = b_length < left ? b_length : left;
    memcpy(joined, a, from_a);
    memcpy(joined + from_a, b, from_b);
    memset(joined + from_a + from_b, ' ', left - from_b);
}
