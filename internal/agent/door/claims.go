package door

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// meant reports whether a token claims this audience, and until when it claims to be valid. The
// claim proves nothing; its absence is enough to refuse. Whether it has expired only the API
// server knows: the node's clock may be wrong by more than a token lasts.
func meant(token, audience string) (end time.Time, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return end, false
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return end, false
	}
	var claims struct {
		Audiences audiences `json:"aud"`
		Expires   int64     `json:"exp"`
	}
	if json.Unmarshal(b, &claims) != nil || !slices.Contains(claims.Audiences, audience) {
		return end, false
	}
	return time.Unix(claims.Expires, 0), claims.Expires > 0
}

// audiences is a string or a list in JSON.
type audiences []string

func (a *audiences) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}
