#pragma once

#include <stdbool.h>
#include <stddef.h>

/* As much JSON as one line of the agent protocol needs. */

/* The keys of requests. A value of any other key is skipped, whatever it is. */
enum key {
  KEY_DO, KEY_PATH, KEY_TO, KEY_TEXT, KEY_NAME, KEY_AS, KEY_HELD, KEY_HOW, KEY_MODE, KEY_SECONDS, KEY_WRITE, KEY_ARGS,
  KEY_COUNT
};

enum { MOST_ARGUMENTS = 256 };

/* `bytes` is a string's content and ends with a zero, but can also have one within. */
struct value {
  enum { ABSENT, STRING, NUMBER, TRUE, LIST, OTHER } kind;
  char *bytes;
  size_t length;
  double number;
};

struct request {
  struct value values[KEY_COUNT];
  char *arguments[MOST_ARGUMENTS + 1];
  size_t argument_count;
};

/* False if the text is not one JSON object. What was read until then is freed by `request_free` all the same. */
bool request_parse(const char *text, struct request *request);
void request_free(struct request *request);

/* Text that grows. Once it is too long or memory is out, it stays `failed`. */
struct text {
  char *bytes;
  size_t length, room;
  bool failed;
};

/* What one answer can carry. */
enum { MOST_TEXT = 1 << 20 };

void text_add(struct text *text, const char *bytes, size_t length);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A JSON string with its quotation marks. Bytes that are not UTF-8 become U+FFFD. */
void text_add_string(struct text *text, const char *bytes, size_t length);
