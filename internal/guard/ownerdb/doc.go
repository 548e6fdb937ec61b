// Package ownerdb is the guard's book of who owns what on this node: one small file per
// attachment and an index per name, in a directory that does not outlive a boot. Every
// change is a rename, so a kill at any instruction leaves the old or the new. What cannot
// be read, or was written under another boot, is unknown: never evidence against anyone.
package ownerdb
