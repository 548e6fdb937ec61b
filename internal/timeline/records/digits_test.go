package records

import (
	"bytes"
	"encoding/json"
	"testing"
)

// slowNumber is number, digit by digit.
func slowNumber(b []byte) (value, length int) {
	for length < len(b) && b[length] >= '0' && b[length] <= '9' {
		value = value*10 + int(b[length]-'0')
		if length++; length > 9 {
			return 0, 0
		}
	}
	return value, length
}

// slowShape reports whether b looks like a pattern in which every 0 is a digit.
func slowShape(b []byte, like string) bool {
	for i := range len(like) {
		if like[i] == '0' && (b[i] < '0' || b[i] > '9') || like[i] != '0' && b[i] != like[i] {
			return false
		}
	}
	return true
}

// FuzzDigits: eight bytes at once are read as they are one by one.
func FuzzDigits(f *testing.F) {
	for _, s := range []string{
		"", "0", "7 x", "1234567", "12345678", "123456789]", "1234567890", "36 kubelet.go", "999]", "/0000000", ":0000000", "\xb0\xb1\xb2aaaaa", "00000012:",
		"10:31:56.650149", "24:00:00", "1O:31:56", "10-31:56", "10:3\xb1:56", "2026-11-15T10:31:56Z", "2026:11-15", "\xff\xff\xff\xff\xff\xff\xff\xff", "9/:0\x000: ",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, n := number(b)
		if value, length := slowNumber(b); v != value || n != length {
			t.Errorf("%q is %d of %d digits, want %d of %d", b, v, n, value, length)
		}
		if len(b) < 8 {
			return
		}
		for like, is := range map[string]uint64{"00:00:00": clocked, "0000-00-": dayed} {
			d, ok := shaped(b, is)
			if ok != slowShape(b, like) {
				t.Errorf("%q looks like %s: %v", b, like, ok)
			}
			for i := 0; ok && i < 7; i++ {
				if slowShape(b[i:], "00") && two(d, i) != digits2(b, i) {
					t.Errorf("%q has %d at %d", b, two(d, i), i)
				}
			}
		}
	})
}

// FuzzMembers: of an object that encoding/json reads, the members are the same.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a" : "x\"y" , "b":[1,{"c":"}"}],"d":{"e":[]},"f":null,"g":-1.5e3 }`, `{"a":1}x`, `{"a":1,}`, `{"a"}`, `[1]`, `{"a":"b`, "{\"a\":\r\n\ttrue}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]string{}
		whole := Members(b, func(key, val []byte) bool {
			got[string(key)] = string(val)
			return true
		})
		var want map[string]json.RawMessage
		odd := func(c rune) bool { return c == '\\' || c > '~' }
		if json.Unmarshal(b, &want) != nil || want == nil || bytes.ContainsFunc(b, odd) {
			return // keys and values come as they stand
		}
		if !whole {
			t.Fatalf("%q is not taken for an object", b)
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Errorf("%q: %q is %q, want %q", b, k, got[k], v)
			}
		}
	})
}
