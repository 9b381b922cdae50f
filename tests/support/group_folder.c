/* A temporary folder for a whole test program. */
#include "support/group_folder.h"

#include <stdio.h>

char folder[SUPPORT_PATH];

int group_folder_make(void **state) {
    (void)state;
    support_temp_dir(folder);
    return 0;
}

int group_folder_remove(void **state) {
    (void)state;
    support_temp_remove(folder);
    return 0;
}

char *in_folder(char path[SUPPORT_PATH], const char *name) {
    assert_true(snprintf(path, SUPPORT_PATH, "%s/%s", folder, name) < SUPPORT_PATH);
    return path;
}
