// What the functions share that the npm package exports to JavaScript.
//
// Arguments are numbers and addresses of 32 bits, so that JavaScript meets no 64-bit integers. A function that can fail
// returns a sap_status; why it failed is then a sentence at web_sentence(). Small results go through one block of
// memory whose address JavaScript asks for once. A module has one device and serves one call at a time.
#ifndef WEB_MODULE_H
#define WEB_MODULE_H

#include "export.h"
#include <sapwood/sapwood.h>

/** Numbers that go to a call and come from it. */
typedef struct web_exchange {
    double numbers[64];
    int32_t integers[16]; // counts; addresses too
} web_exchange;

extern web_exchange web_shared;

/** The module's device; NULL before web_open. */
extern sap_device* web_device;

/** Says why a call fails that the library itself did not refuse; gives back the status. */
sap_status web_fail(sap_status status, const char* text);

/** The address of an array as one of web_exchange's integers. */
static inline int32_t web_address(const void* array) { return (int32_t)(uintptr_t)array; }

#endif
