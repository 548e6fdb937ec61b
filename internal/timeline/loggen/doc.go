// Package loggen makes logs whose truth is known: it plays recorded lines again, under
// other names and at other times, as happenings of a cluster that never was. It invents
// no line. What the timeline makes of such logs is held against what was played.
package loggen
