package repair

import (
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// Takes estimates how long the writes take within the budget. The time that Calico needs to
// react is not included.
func (p *Plan) Takes(blocksPerSecond, handlesPerSecond float64) time.Duration {
	var blocks, others float64
	for i := range p.Steps {
		if _, waits := p.Steps[i].Change.(*change.Await); waits {
			continue
		}
		if p.Steps[i].On.Kind == model.KindBlock {
			blocks++
		} else {
			others++
		}
	}
	seconds := 0.0
	if blocksPerSecond > 0 {
		seconds += blocks / blocksPerSecond
	}
	if handlesPerSecond > 0 {
		seconds += others / handlesPerSecond
	}
	return time.Duration(seconds * float64(time.Second))
}
