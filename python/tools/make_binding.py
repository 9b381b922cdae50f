"""make_binding.py DECLARATIONS INTERRUPT OUTPUT: writes the C source of margin._binding.

DECLARATIONS is margin/margin.h as the preprocessor leaves it; the compiler holds what cffi makes of
it against the headers themselves, so a struct or a signature that differs does not compile.
"""

import pathlib
import sys

import cffi

OWN = """
margin_context *interrupt_begin(margin_context *context);
void interrupt_end(margin_context *context, margin_context *outer);
extern "Python" int margin_python_trace(const margin_trace_step *step, void *user);
extern "Python" void margin_python_part(const margin_report *report, int64_t subproblem, void *user);
extern "Python" int margin_python_progress(const margin_progress *progress, void *user);
extern "Python" int margin_python_kernel(const double *x, int64_t x_rows, const double *z, int64_t z_rows,
                                         int64_t columns, double *values, void *user);
"""


def main() -> None:
    declarations, interrupt, output = map(pathlib.Path, sys.argv[1:])
    ffi = cffi.FFI()
    ffi.cdef(declarations.read_text())
    ffi.cdef(OWN)
    ffi.set_source("margin._binding", "#include <margin/margin.h>\n" + interrupt.read_text())
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    main()
