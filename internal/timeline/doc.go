// Package timeline tells from logs what happened to a pod's network, and who did it.
// Lines become records (read), records become events (tell), the events of one pod's
// name become a story, and stories have verdicts. Nothing here opens a file or asks a
// clock: it is given readers.
package timeline
