package agent

import "time"

// clockSlack is how far a node's clock may be off without being named: stamps are cut to
// seconds, and the API server's time is an estimate.
const clockSlack = 3 * time.Second

// Ahead is by how much, at least, the clock by which an answer was taken is ahead of the one
// by which it was asked for and had come; negative if it is behind, zero if the clocks may
// agree. A slow answer proves nothing.
func Ahead(taken, asked, came time.Time) time.Duration {
	if asked.Year() < 2000 { // the API server's time is not known
		return 0
	}
	switch {
	case taken.After(came.Add(clockSlack)):
		return taken.Sub(came).Truncate(time.Second)
	case taken.Before(asked.Add(-clockSlack)):
		return taken.Sub(asked).Truncate(time.Second)
	}
	return 0
}
