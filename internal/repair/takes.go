package repair

import (
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// Takes estimates how long the writes take within the budget. The time that Calico needs to
// react is not included.
func (p *Plan) Takes(blocksPerSecond, handlesPerSecond, othersPerSecond float64) time.Duration {
	var blocks, handles, others, restarts float64
	for i := range p.Steps {
		if _, waits := p.Steps[i].Change.(*change.Await); waits {
			continue
		}
		if _, is := p.Steps[i].Change.(*change.Restart); is {
			restarts++
		}
		switch p.Steps[i].On.Kind {
		case model.KindBlock:
			blocks++
		case model.KindHandle:
			handles++
		default:
			others++
		}
	}
	seconds := 60 * restarts // an estimate: each waits until calico-node is Ready again
	for _, w := range [][2]float64{{blocks, blocksPerSecond}, {handles, handlesPerSecond}, {others, othersPerSecond}} {
		if w[1] > 0 {
			seconds += w[0] / w[1]
		}
	}
	return time.Duration(seconds * float64(time.Second))
}
