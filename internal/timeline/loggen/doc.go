// Package loggen generates logs with known incidents: it replays recorded lines with other names
// and times, as logs of a cluster that does not exist. It invents no line. Tests compare the
// verdicts of the timeline with what was replayed.
package loggen
