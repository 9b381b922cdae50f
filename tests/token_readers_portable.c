#define TOKEN_READERS token_readers_portable
#include "token_readers_tmpl.h"
