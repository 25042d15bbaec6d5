// Draws a small picture with characters, by libchafa. For Ambit's own use, and only inside a sandbox: the picture is a stranger's,
// and libpng decodes it here.
//
// usage: ambit-draw COLUMNS ROWS none|indexed|direct PICTURE

#include <chafa.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest_side = 2048, most_cells = 500 };

static int number(const char *text) {
  char *end;
  long value = strtol(text, &end, 10);
  return *text && !*end && value >= 1 && value <= most_cells ? (int)value : 0;
}

static int fail(const char *sentence) {
  fprintf(stderr, "ambit-draw: %s\n", sentence);
  return 1;
}

// Four bytes a pixel: red, green, blue, opacity.
static png_bytep pixels(const char *path, png_image *image) {
  memset(image, 0, sizeof *image);
  image->version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(image, path)) return NULL;
  image->format = PNG_FORMAT_RGBA;
  png_bytep buffer = NULL;
  if (image->width <= longest_side && image->height <= longest_side) buffer = malloc(PNG_IMAGE_SIZE(*image));
  if (!buffer || !png_image_finish_read(image, NULL, buffer, 0, NULL)) {
    png_image_free(image);
    free(buffer);
    return NULL;
  }
  return buffer;
}

int main(int count, char **words) {
  int columns = count == 5 ? number(words[1]) : 0, rows = count == 5 ? number(words[2]) : 0;
  if (!columns || !rows) return fail("it is for Ambit's own use; see \"ambit preview\"");
  png_image image;
  png_bytep buffer = pixels(words[4], &image);
  if (!buffer) return fail("the picture cannot be read");

  ChafaCanvasMode mode = CHAFA_CANVAS_MODE_FGBG;
  if (!strcmp(words[3], "indexed")) mode = CHAFA_CANVAS_MODE_INDEXED_240;
  if (!strcmp(words[3], "direct")) mode = CHAFA_CANVAS_MODE_TRUECOLOR;
  // A character is about twice as high as wide.
  chafa_calc_canvas_geometry((gint)image.width, (gint)image.height, &columns, &rows, 0.5f, FALSE, FALSE);
  ChafaSymbolMap *symbols = chafa_symbol_map_new();
  chafa_symbol_map_add_by_tags(symbols, CHAFA_SYMBOL_TAG_SPACE | CHAFA_SYMBOL_TAG_BLOCK);
  ChafaCanvasConfig *config = chafa_canvas_config_new();
  chafa_canvas_config_set_geometry(config, columns, rows);
  chafa_canvas_config_set_canvas_mode(config, mode);
  chafa_canvas_config_set_symbol_map(config, symbols);
  ChafaCanvas *canvas = chafa_canvas_new(config);
  chafa_canvas_draw_all_pixels(
    canvas, CHAFA_PIXEL_RGBA8_UNASSOCIATED, buffer, (gint)image.width, (gint)image.height, (gint)image.width * 4);
  // Colours and characters alone: no terminal is asked, and none is known here.
  ChafaTermInfo *terminal = chafa_term_info_new();
  static const struct {
    ChafaTermSeq seq;
    const char *text;
  } sequences[] = {
    {CHAFA_TERM_SEQ_RESET_ATTRIBUTES, "\033[0m"},
    {CHAFA_TERM_SEQ_INVERT_COLORS, "\033[7m"},
    {CHAFA_TERM_SEQ_SET_COLOR_FG_DIRECT, "\033[38;2;%1;%2;%3m"},
    {CHAFA_TERM_SEQ_SET_COLOR_BG_DIRECT, "\033[48;2;%1;%2;%3m"},
    {CHAFA_TERM_SEQ_SET_COLOR_FGBG_DIRECT, "\033[38;2;%1;%2;%3;48;2;%4;%5;%6m"},
    {CHAFA_TERM_SEQ_SET_COLOR_FG_256, "\033[38;5;%1m"},
    {CHAFA_TERM_SEQ_SET_COLOR_BG_256, "\033[48;5;%1m"},
    {CHAFA_TERM_SEQ_SET_COLOR_FGBG_256, "\033[38;5;%1;48;5;%2m"},
  };
  for (size_t index = 0; index < sizeof sequences / sizeof *sequences; index++)
    chafa_term_info_set_seq(terminal, sequences[index].seq, sequences[index].text, NULL);
  GString *text = chafa_canvas_print(canvas, terminal);
  fwrite(text->str, 1, text->len, stdout);
  putchar('\n');
  return fflush(stdout) || ferror(stdout);
}
