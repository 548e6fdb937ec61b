package load

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

func TestSuffixesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range 600_000 {
		s := suffix(i)
		if seen[s] {
			t.Fatalf("%s is the suffix of %d and of an earlier number", s, i)
		}
		seen[s] = true
	}
}

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		for what, re := range map[string]string{
			uid(r):  `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
			id64(r): `^[0-9a-f]{64}$`,
			mac(r):  `^[0-9a-f][26ae](:[0-9a-f]{2}){5}$`,
		} {
			if !regexp.MustCompile(re).MatchString(what) {
				t.Fatalf("%s is not %s", what, re)
			}
		}
	}
}

func TestAppsAreUniqueInANamespace(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, a := range newApps(rand.New(rand.NewPCG(1, 1)), 12_500) {
		key := a.namespace + "/" + a.name
		if seen[key] {
			t.Fatalf("%s is not unique", key)
		}
		seen[key] = true
	}
}
