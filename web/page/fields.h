// Numbers and buffers by name, for C and TypeScript alike. web/fields.mjs turns every enum of the headers *fields.h
// into an object of page/fields.ts: `enum rays_make { RAYS_MAKE_TRIANGLES }` into `raysMake.triangles`. To add a field,
// add it here or in a scene's header; the compiler of TypeScript then names the callers that do not set it.
//
// Enumerators begin with the name of their enum. The last one may be …_FIELDS, how many there are: C's alone.
#ifndef SAPWOOD_PAGE_FIELDS_H
#define SAPWOOD_PAGE_FIELDS_H

// The most numbers, and buffers each way, of a job.
enum page_most { PAGE_MOST_NUMBERS = 64, PAGE_MOST_BUFFERS = 8 };

// The theme's colours.
enum page_color { PAGE_COLOR_PAPER, PAGE_COLOR_INK, PAGE_COLOR_MUTED, PAGE_COLOR_ACCENT, PAGE_COLOR_FIELDS };

// Input buffers of a job that reads a file: its bytes, and its name with a 0 at the end.
enum page_file { PAGE_FILE_BYTES, PAGE_FILE_NAME };

#endif
