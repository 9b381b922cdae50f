/* A temporary folder for a whole test program:
 * cmocka_run_group_tests(tests, group_folder_make, group_folder_remove). */
#ifndef GROUP_FOLDER_H
#define GROUP_FOLDER_H

#include "support/support.h"

extern char folder[SUPPORT_PATH];
int group_folder_make(void **state);
int group_folder_remove(void **state);
/* folder/name */
char *in_folder(char path[SUPPORT_PATH], const char *name);

#endif
