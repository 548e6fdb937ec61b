// Package timeline tests the timeline on logs that real components wrote during a
// scenario; it has tests only.
package timeline
