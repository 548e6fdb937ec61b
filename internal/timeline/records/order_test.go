package records

import "testing"

// TestPastedOutOfOrder checks that the year that a line shows is used, also for the lines
// around it, where pasted lines are out of order.
func TestPastedOutOfOrder(t *testing.T) {
	t.Parallel()
	const logrus = ` level=info msg="x"`
	got := one(t, `Jan 02 10:27:42 n kubelet[1]: time="2018-01-02T10:27:42+08:00"`+logrus+`
Aug 03 15:22:06 n dockerd: time="2017-08-03T15:22:06.567346680+08:00"`+logrus+`
Aug 03 15:22:07 n kernel: y
Jan 02 10:27:43 n kubelet[1]: ERROR:0102 10:27:43.029094   1 a.go:1] z
Jan 02 10:27:43 n kubelet[1]: time="2018-01-02T10:27:43+08:00"`+logrus+`
Jan 02 10:27:44 n kubelet[1]: z
`)
	for i, want := range []string{
		"2018-01-02T10:27:42+08:00", "2017-08-03T15:22:06.567346680+08:00", "2017-08-03T15:22:07+08:00",
		"2018-01-02T10:27:43.029094+08:00", "2018-01-02T10:27:43+08:00", "2018-01-02T10:27:44+08:00",
	} {
		if !got[i].At.Equal(at(want)) {
			t.Errorf("line %d is of %s, want %s", i+1, got[i].At, want)
		}
	}
}
