/* An object that begins as zeros and ends by type_free(&name), or a pointer that begins as NULL and
 * ends by type_drop(&name), on every way out of its block but a longjmp; no goto may jump over it.
 */
#pragma once
#define MG_SCOPED(type, name) __attribute__((cleanup(type##_free))) type name = {0}
#define MG_OWNED(type, name)  __attribute__((cleanup(type##_drop))) type *name = NULL
