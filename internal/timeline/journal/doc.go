// Package journal reads journal files of systemd, as journald writes them below /var/log/journal
// and /run/log/journal. It is written after systemd's documentation of the format
// (https://systemd.io/JOURNAL_FILE_FORMAT/) and needs neither libsystemd nor cgo.
//
// A file is an io.ReaderAt and a size; nothing is mapped, and nothing beyond the size is read. The
// file may be under writing, cut off, or damaged: every offset and every size in it is checked
// before use, each step goes forward, and the work is bounded by the file's size. What cannot be
// read is left out and counted with its offsets: File.Damage. Entries that no entry array refers
// to any more are found by walking the objects.
package journal
