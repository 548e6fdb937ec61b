package hostfile

// Windows has neither flag; the type of an open file is verified.
const noFollow, noBlock = 0, 0

// SyncDir does nothing: Windows cannot sync a directory.
func SyncDir(string) error { return nil }
