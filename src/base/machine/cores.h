/* How many cores this process may use. */
#pragma once

int mg_cores_allowed(void); /* affinity and cgroup v1/v2 quota, at least 1 */
/* Cores by the quota of the groups listed in the file `membership` (/proc/self/cgroup), whose tree
 * is mounted at `mount`; INT_MAX if there is none. */
int mg_cores_in_quota(const char *membership, const char *mount);
