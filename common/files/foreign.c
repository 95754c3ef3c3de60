#include "common/files/foreign.h"
#include <string.h>
#include <strings.h>
#include "common/err.h"

/* `at` and `to`: where the magic begins, and the last place where it may (0: at `at`). */
struct row { size_t at, to; const char *magic; size_t n; struct foreign f; };
#define MAGIC(s) s, sizeof(s) - 1
#define UNPACK "unpack it first"
#define GGUF { "a GGUF file (llama.cpp)", "give the model that it was made from", false }

/* The first that fits counts. Sources: each format's specification, and file(1)'s database. */
static const struct row rows[] = {
    { 0, 0, MAGIC("version https://git-lfs.github.com/"),
      { "a Git LFS pointer", "git lfs pull fetches the file itself", false } },
    { 0, 0, MAGIC("version https://hawser.github.com/"),
      { "a Git LFS pointer", "git lfs pull fetches the file itself", false } },
    /* zip archives by the name of their first member, from byte 30 on */
    { 30, 120, MAGIC(".npy"),
      { "an archive of NumPy arrays (.npz)", "save the one array as .npy: numpy.save", false } },
    { 30, 120, MAGIC("data.pkl"),
      { "a file of PyTorch (torch.save)", "ckpt import reads models of transformers", false } },
    { 30, 120, MAGIC("[Content_Types].xml"),
      { "a document of Microsoft Office", "save it as plain text in UTF-8", false } },
    { 30, 120, MAGIC("mimetypeapplication/vnd.oasis"),
      { "a document of LibreOffice", "save it as plain text in UTF-8", false } },
    { 30, 120, MAGIC("mimetypeapplication/epub"), { "an e-book (EPUB)", UNPACK, false } },
    { 0, 0, MAGIC("PK\3\4"), { "a zip archive", UNPACK ": unzip", false } },
    { 0, 0, MAGIC("PK\5\6"), { "an empty zip archive", UNPACK ": unzip", false } },
    { 0, 0, MAGIC("\xFD" "7zXZ\0"), { "xz-compressed", UNPACK ": xz -d", false } },
    { 0, 0, MAGIC("\x5D\0\0\x80\0"), { "lzma-compressed", UNPACK ": xz -d", false } },
    { 4, 0, MAGIC("1AY&SY"), { "bzip2-compressed", UNPACK ": bunzip2", false } },
    { 0, 0, MAGIC("7z\xBC\xAF\x27\x1C"), { "a 7-Zip archive", UNPACK ": 7z x", false } },
    { 0, 0, MAGIC("Rar!\x1A\7"), { "a RAR archive", UNPACK ": unrar x", false } },
    { 0, 0, MAGIC("\4\x22\x4D\x18"), { "lz4-compressed", UNPACK ": lz4 -d", false } },
    { 0, 0, MAGIC("LZIP\1"), { "lzip-compressed", UNPACK ": lzip -d", false } },
    { 0, 0, MAGIC("\x1F\x9D"), { "compressed by compress (.Z)", UNPACK ": uncompress", false } },
    { 0, 0, MAGIC("\x1F\x8B"), { "gzip-compressed", UNPACK ": gunzip", false } },
    { 0, 0, MAGIC("\x28\xB5\x2F\xFD"), { "Zstandard-compressed", UNPACK ": zstd -d", false } },
    { 257, 0, MAGIC("ustar\0"), { "a tar archive", UNPACK ": tar -x", false } },
    { 257, 0, MAGIC("ustar "), { "a tar archive", UNPACK ": tar -x", false } },
    { 0, 0, MAGIC("\xBA\x16\x4F\x2F"),
      { "a model of fastText (.bin)", "give the .vec that fastText wrote next to it", false } },
    { 0, 0, MAGIC("\x89HDF\r\n\x1A\n"),
      { "an HDF5 file", "write its arrays as .npy or text: h5py reads it", false } },
    { 0, 0, MAGIC("\x93NUMPY"), { "a NumPy array (.npy)", "it is read where vectors are", false } },
    /* After a header's length below 2^32. */
    { 4, 0, MAGIC("\0\0\0\0{\""),
      { "a safetensors file", "ckpt import reads models of transformers", false } },
    { 0, 0, MAGIC("GGUF\2\0"), GGUF },
    { 0, 0, MAGIC("GGUF\3\0"), GGUF },
    { 0, 0, MAGIC("PAR1\x15"), { "a Parquet file", "write its columns as text", false } },
    { 0, 0, MAGIC("ARROW1\0\0"), { "an Arrow file", "write its columns as text", false } },
    { 0, 0, MAGIC("SQLite format 3\0"),
      { "an SQLite database", "write its columns as text", false } },
    { 0, 0, MAGIC("%PDF-"), { "a PDF document", "make text of it: pdftotext", false } },
    { 0, 0, MAGIC("%!PS-Adobe"), { "a PostScript document", "make text of it: ps2ascii", false } },
    { 0, 0, MAGIC("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"),
      { "a document of an old Microsoft Office", "save it as plain text in UTF-8", false } },
    { 0, 0, MAGIC("\x7F" "ELF"), { "a program", "give the data it works on", false } },
    { 0, 0, MAGIC("\x89PNG"), { "an image", "give text", false } },
    { 0, 0, MAGIC("\xFF\xD8\xFF"), { "an image", "give text", false } },
    { 0, 0, MAGIC("GIF89a"), { "an image", "give text", false } },
    { 0, 0, MAGIC("{\\rtf"), { "an RTF document", "save it as plain text in UTF-8", true } },
};

/* A pickle of protocol 2 to 5: the opcode PROTO, its version, and an opcode that can follow: FRAME,
 * or one that begins a dictionary, list, tuple, global or number. */
static bool is_pickle(const unsigned char *p, size_t n)
{
    return n > 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5 && memchr("\x95}](\x8A" "cXK", p[2], 8);
}

/* What a download is when the address was wrong, or needed a login. */
static bool is_html(const char *p, size_t n)
{
    /* strchr finds the NUL at the end of its list, too */
    while (n && strchr(" \t\r\n", *p) && *p) p++, n--;
    return (n >= 14 && !strncasecmp(p, "<!doctype html", 14))
           || (n >= 5 && !strncasecmp(p, "<html", 5));
}

static bool fits(const struct row *r, const char *p, size_t n)
{
    size_t last = r->to ? r->to : r->at;
    /* names of members mean something in zip archives alone */
    if (r->to && (n < 4 || memcmp(p, "PK\3\4", 4))) return false;
    for (size_t i = r->at; i <= last && i + r->n <= n; i++)
        if (!memcmp(p + i, r->magic, r->n)) return true;
    return false;
}

const struct foreign *foreign_find(const void *p, size_t n)
{
    static const struct foreign pickle = {
        "a pickle of Python (gensim's .kv, torch.save)", "save it in a format for other programs: "
        "gensim: save_word2vec_format; transformers: save_pretrained", false
    }, html = { "a page of HTML", "was the address right, and is no login needed?", true };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fits(&rows[i], p, n)) return &rows[i].f;
    return is_pickle(p, n) ? &pickle : is_html(p, n) ? &html : NULL;
}

int foreign_refuse(const char *path, const void *p, size_t n, const char *expected)
{
    const struct foreign *f = foreign_find(p, n);
    return f ? err_set("%s: %s, not %s; %s", path, f->what, expected, f->advice) : 0;
}

int foreign_refuse_pointer(const char *path, const void *p, size_t n)
{
    const struct foreign *f = foreign_find(p, n);
    /* the two first rows */
    if (f != &rows[0].f && f != &rows[1].f) return 0;
    return err_set("%s: %s, not the file itself; git lfs pull fetches it", path, f->what);
}
