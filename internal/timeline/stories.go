package timeline

import (
	"slices"
	"strings"
)

// Stories gives the stories of pods, with verdicts; of a pod that no line is about there is none.
func Stories(log *Log, pods []string) []*Story {
	shared := append(JudgeAddresses(log), JudgeListings(log)...)
	var out []*Story
	for _, p := range pods {
		s := log.Pod(p)
		if s == nil || len(s.Events) == 0 {
			continue
		}
		Judge(s)
		for _, v := range shared {
			if v.Pod == p || slices.Contains(v.Pods, p) || strings.Contains(v.Says, " "+p+" ") { // who got it, and who had it
				s.Verdicts = append(s.Verdicts, v)
			}
		}
		out = append(out, s)
	}
	return out
}
