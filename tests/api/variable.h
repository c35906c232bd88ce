/* Sets a variable of the environment, or removes it if `value` is "". */
#ifndef RDK_VARIABLE_H
#define RDK_VARIABLE_H

#include <stdlib.h>

static inline void set_variable(const char *name, const char *value) {
#ifdef _WIN32
    _putenv_s(name, value); /* "" removes it by itself */
#else
    if (*value)
        setenv(name, value, 1);
    else
        unsetenv(name);
#endif
}

#endif
