// Package watch proves on the lab that check --watch tells what comes and what goes, and
// measures how soon and at what cost, on clusters of up to 300,000 pods. It needs the lab
// and is built with the tag e2e.
package watch
