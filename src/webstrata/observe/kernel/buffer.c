#include <stdlib.h>
#include <string.h>

#include "kernel.h"

EXPORTED int32_t kernel_version(void) { return KERNEL_VERSION; }

char *tail(buffer *to, size_t room) {
    if (room > SIZE_MAX / 4 || to->length > SIZE_MAX / 4)
        return NULL;
    if (to->room - to->length < room || to->data == NULL) {
        size_t wanted = 2 * to->length + room + 64;
        char *data = realloc(to->data, wanted);
        if (data == NULL)
            return NULL;
        to->data = data;
        to->room = wanted;
    }
    return to->data + to->length;
}

int put(buffer *to, const void *data, size_t length) {
    char *place = tail(to, length);
    if (place == NULL)
        return 0;
    if (length)
        memcpy(place, data, length);
    to->length += length;
    return 1;
}
