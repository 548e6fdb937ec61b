package stage

import "testing"

func TestOnlyHeld(t *testing.T) {
	t.Parallel()
	const held = "  10.244.200.0 leaked; attrs Main:plumbline-unknown.10-244-200-0-26 Extra:note=allocated\n"
	for out, ok := range map[string]bool{
		"Check complete; found 0 problems.":                                      true,
		held + "Check complete; found 1 problems.":                               true,
		held + "Check complete; found 2 problems.":                               false,
		"  10.244.1.1 leaked; attrs Main:k8s\nCheck complete; found 1 problems.": false,
		"": false,
	} {
		if err := OnlyHeld(out); (err == nil) != ok {
			t.Errorf("%q: %v", out, err)
		}
	}
}
