#include <stdlib.h>
#include <string.h>

#include "kernel.h"

EXPORTED int32_t kernel_version(void) { return KERNEL_VERSION; }

char *tail(buffer *to, size_t room) {
    if (room > SIZE_MAX / 4 || to->length > SIZE_MAX / 4)
        return NULL;
    if (to->room - to->length < room || to->data == NULL) {
        size_t new_room = 2 * to->length + room + 64;
        char *data = realloc(to->data, new_room);
        if (data == NULL)
            return NULL;
        to->data = data;
        to->room = new_room;
    }
    return to->data + to->length;
}

int put(buffer *to, const void *data, size_t length) {
    char *end = tail(to, length);
    if (end == NULL)
        return 0;
    if (length)
        memcpy(end, data, length);
    to->length += length;
    return 1;
}
