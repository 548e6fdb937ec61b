// Package ownerdb is the guard's ownership record: which sandbox on this node owns which pod
// name. It is a directory in /run, so it ends with a reboot:
//
//	owner-HASH   one attachment: its name, sequence number and state
//	name-HASH    index of one pod name: the containers that had an ADD for it
//	queued-HASH  the queued DEL of one attachment; later-HASH in earlier versions
//	count        the last sequence number
//	lock-XX      lock of the names whose hash ends with XX; lock-count is the counter's
//	*.new        a file before its rename; never read
//
// Invariants, after a kill between any two writes:
//   - Every file that is read holds the old or the new content, because put renames.
//   - The counter is written first, then the index, then the record. So the counter and
//     the index's Top are never below the Seq of a record, and no Seq is given twice.
//   - An index may list a container without a record. That container is nobody: it owns no
//     name and makes no DEL late.
//   - A file that is missing, unreadable, of a newer version or from another boot means unknown. The call of an
//     unknown container is passed on, and it never makes another container's DEL late.
package ownerdb
