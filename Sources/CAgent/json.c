#include "json.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Answers are escaped, which can make six characters of one byte, and they have keys. */
static const size_t most_bytes = 8 * (size_t)MOST_TEXT;

/* Nobody nests deeper on purpose, and each level is a stack frame. */
static const int most_depth = 64;

/* Writing. */

static bool make_room(struct text *text, size_t more) {
  if (text->failed) return false;
  size_t needed = text->length + more + 1;
  if (needed <= text->room) return true;
  size_t room = needed < 128 ? 128 : needed * 2;
  char *bytes = needed > most_bytes ? NULL : realloc(text->bytes, room);
  if (!bytes) {
    text->failed = true;
    return false;
  }
  text->bytes = bytes;
  text->room = room;
  return true;
}

void text_add(struct text *text, const char *bytes, size_t length) {
  if (!make_room(text, length)) return;
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = 0;
}

void text_format(struct text *text, const char *format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof line) {
    text->failed = true;
    return;
  }
  text_add(text, line, (size_t)length);
}

/* The length of the character at `bytes`, or 0 if none of UTF-8 begins there. Overlong forms and halves of surrogate
   pairs are none. */
static size_t utf8_length(const unsigned char *bytes, size_t left) {
  if (bytes[0] < 0x80) return 1;
  size_t length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
  if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || length > left) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xC0) != 0x80) return 0;
  }
  if (bytes[0] == 0xE0 && bytes[1] < 0xA0) return 0;
  if (bytes[0] == 0xED && bytes[1] > 0x9F) return 0;
  if (bytes[0] == 0xF0 && bytes[1] < 0x90) return 0;
  if (bytes[0] == 0xF4 && bytes[1] > 0x8F) return 0;
  return length;
}

void text_add_string(struct text *text, const char *bytes, size_t length) {
  const unsigned char *at = (const unsigned char *)bytes, *end = at + length;
  text_add(text, "\"", 1);
  while (at < end && !text->failed) {
    size_t character = utf8_length(at, (size_t)(end - at));
    if (character == 0) {
      text_add(text, "\xEF\xBF\xBD", 3);
      at++;
      continue;
    }
    if (*at == '"' || *at == '\\') {
      text_format(text, "\\%c", *at);
    } else if (*at < 0x20 || *at == 0x7F) {
      text_format(text, "\\u%04x", *at);
    } else {
      text_add(text, (const char *)at, character);
    }
    at += character;
  }
  text_add(text, "\"", 1);
}

/* Reading. */

struct reader {
  const char *at;
  int depth;
  struct request *request;
};

static const char *const key_names[KEY_COUNT] = {
    [KEY_DO] = "do",     [KEY_PATH] = "path", [KEY_TO] = "to",     [KEY_TEXT] = "text",
    [KEY_NAME] = "name", [KEY_AS] = "as",     [KEY_HELD] = "held", [KEY_HOW] = "how",
    [KEY_MODE] = "mode", [KEY_SECONDS] = "seconds", [KEY_WRITE] = "write", [KEY_ARGS] = "args",
};

static void skip_space(struct reader *reader) {
  while (*reader->at && strchr(" \t\r\n", *reader->at)) reader->at++;
}

static bool take(struct reader *reader, char character) {
  skip_space(reader);
  if (*reader->at != character) return false;
  reader->at++;
  return true;
}

static bool take_word(struct reader *reader, const char *word) {
  size_t length = strlen(word);
  if (strncmp(reader->at, word, length) != 0) return false;
  reader->at += length;
  return true;
}

/* Four hexadecimal digits, or -1. */
static int32_t take_hex(struct reader *reader) {
  int32_t unit = 0;
  for (int i = 0; i < 4; i++, reader->at++) {
    char digit = *reader->at;
    if (digit >= '0' && digit <= '9') unit = unit * 16 + (digit - '0');
    else if (digit >= 'a' && digit <= 'f') unit = unit * 16 + (digit - 'a' + 10);
    else if (digit >= 'A' && digit <= 'F') unit = unit * 16 + (digit - 'A' + 10);
    else return -1;
  }
  return unit;
}

static void add_code_point(struct text *text, uint32_t point) {
  char bytes[4];
  size_t length = 0;
  if (point < 0x80) {
    bytes[length++] = (char)point;
  } else if (point < 0x800) {
    bytes[length++] = (char)(0xC0 | point >> 6);
    bytes[length++] = (char)(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    bytes[length++] = (char)(0xE0 | point >> 12);
    bytes[length++] = (char)(0x80 | (point >> 6 & 0x3F));
    bytes[length++] = (char)(0x80 | (point & 0x3F));
  } else {
    bytes[length++] = (char)(0xF0 | point >> 18);
    bytes[length++] = (char)(0x80 | (point >> 12 & 0x3F));
    bytes[length++] = (char)(0x80 | (point >> 6 & 0x3F));
    bytes[length++] = (char)(0x80 | (point & 0x3F));
  }
  text_add(text, bytes, length);
}

/* After `\u`. Two halves make one character; half a pair alone becomes U+FFFD. */
static bool take_unicode(struct reader *reader, struct text *text) {
  int32_t unit = take_hex(reader);
  if (unit < 0) return false;
  uint32_t point = (uint32_t)unit;
  if (unit >= 0xD800 && unit < 0xDC00 && reader->at[0] == '\\' && reader->at[1] == 'u') {
    const char *before = reader->at;
    reader->at += 2;
    int32_t low = take_hex(reader);
    if (low < 0) return false;
    if (low >= 0xDC00 && low < 0xE000) point = 0x10000 + (((uint32_t)unit - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    else reader->at = before;
  }
  add_code_point(text, point >= 0xD800 && point < 0xE000 ? 0xFFFD : point);
  return true;
}

static bool take_string(struct reader *reader, struct text *text) {
  if (!take(reader, '"')) return false;
  text_add(text, "", 0);
  while (*reader->at != '"') {
    const char *plain = reader->at;
    while (*reader->at && *reader->at != '"' && *reader->at != '\\') reader->at++;
    text_add(text, plain, (size_t)(reader->at - plain));
    if (!*reader->at) return false;
    if (*reader->at != '\\') continue;
    reader->at++;
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char letter = *reader->at;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (!found && letter != 'u') return false;
    reader->at++;
    if (found) text_add(text, &meanings[found - letters], 1);
    else if (!take_unicode(reader, text)) return false;
  }
  reader->at++;
  return !text->failed;
}

/* A string goes into `value`, or nowhere if there is none. */
static bool take_string_value(struct reader *reader, struct value *value) {
  struct text text = {0};
  bool taken = take_string(reader, &text);
  if (!taken || !value) {
    free(text.bytes);
    return taken;
  }
  value->kind = STRING;
  value->bytes = text.bytes;
  value->length = text.length;
  return true;
}

static bool take_value(struct reader *reader, struct value *value);

static bool add_argument(struct request *request, struct value *item) {
  if (item->kind != STRING || request->argument_count == MOST_ARGUMENTS) return false;
  request->arguments[request->argument_count++] = item->bytes;
  item->bytes = NULL;
  return true;
}

/* The only list with a meaning is `args`. */
static bool take_list(struct reader *reader, struct value *value) {
  bool arguments = value && value == &reader->request->values[KEY_ARGS];
  if (value) value->kind = LIST;
  if (take(reader, ']')) return true;
  do {
    struct value item = {0};
    bool taken = take_value(reader, arguments ? &item : NULL);
    if (taken && arguments) taken = add_argument(reader->request, &item);
    free(item.bytes);
    if (!taken) return false;
  } while (take(reader, ','));
  return take(reader, ']');
}

static struct value *value_of(struct request *request, const struct text *key) {
  for (int i = 0; i < KEY_COUNT; i++) {
    if (strlen(key_names[i]) == key->length && memcmp(key_names[i], key->bytes, key->length) == 0) {
      return &request->values[i];
    }
  }
  return NULL;
}

static void forget_arguments(struct request *request) {
  for (size_t i = 0; i < request->argument_count; i++) free(request->arguments[i]);
  memset(request->arguments, 0, sizeof request->arguments);
  request->argument_count = 0;
}

/* Only the outermost object has a request's keys. Of a key that comes twice, the last counts. */
static bool take_object(struct reader *reader, bool outermost) {
  if (take(reader, '}')) return true;
  do {
    struct text key = {0};
    bool taken = take_string(reader, &key) && take(reader, ':');
    struct value *value = taken && outermost ? value_of(reader->request, &key) : NULL;
    free(key.bytes);
    if (!taken) return false;
    if (value) {
      free(value->bytes);
      *value = (struct value){0};
      if (value == &reader->request->values[KEY_ARGS]) forget_arguments(reader->request);
    }
    if (!take_value(reader, value)) return false;
  } while (take(reader, ','));
  return take(reader, '}');
}

/* strtod takes more than JSON has, such as `nan`; so the first character is looked at. */
static bool take_number(struct reader *reader, struct value *value) {
  const char *digit = reader->at + (*reader->at == '-');
  if (*digit < '0' || *digit > '9') return false;
  char *end;
  double number = strtod(reader->at, &end);
  reader->at = end;
  if (value) *value = (struct value){.kind = NUMBER, .number = number};
  return true;
}

static bool take_nested(struct reader *reader, struct value *value) {
  if (reader->depth == most_depth) return false;
  reader->depth++;
  bool taken;
  if (*reader->at++ == '[') {
    taken = take_list(reader, value);
  } else {
    if (value) value->kind = OTHER;
    taken = take_object(reader, false);
  }
  reader->depth--;
  return taken;
}

static bool take_value(struct reader *reader, struct value *value) {
  skip_space(reader);
  switch (*reader->at) {
    case '"': return take_string_value(reader, value);
    case '[':
    case '{': return take_nested(reader, value);
    case 't':
      if (value) value->kind = TRUE;
      return take_word(reader, "true");
    case 'f':
      if (value) value->kind = OTHER;
      return take_word(reader, "false");
    case 'n':
      if (value) value->kind = ABSENT;
      return take_word(reader, "null");
    default: return take_number(reader, value);
  }
}

bool request_parse(const char *text, struct request *request) {
  memset(request, 0, sizeof *request);
  struct reader reader = {.at = text, .request = request};
  if (!take(&reader, '{') || !take_object(&reader, true)) return false;
  skip_space(&reader);
  return *reader.at == 0;
}

void request_free(struct request *request) {
  for (int i = 0; i < KEY_COUNT; i++) free(request->values[i].bytes);
  forget_arguments(request);
}
