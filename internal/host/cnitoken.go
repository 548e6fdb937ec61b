package host

import (
	"encoding/base64"
	"encoding/json"
	"regexp"

	"plumbline.dev/plumbline/internal/model"
)

// token is a bearer token in a kubeconfig: three parts, of which the second says until when.
var token = regexp.MustCompile(`(?m)(?:^|[\s{,"])token"?:\s*"?[\w-]+\.([\w-]+)\.[\w-]`)

// lastSecond is the last one of the year 9999: no text of a time goes further.
const lastSecond = 253402300799

// noteToken notes when the token that Calico's plugin uses was issued, and when it ends. Nothing
// else of the file is kept. Credentials of other kinds say no time.
func (h *Host) noteToken(c *model.CNIConfig, kubeconfig string) {
	if kubeconfig == "" {
		return
	}
	b, err := h.content(kubeconfig, maxJSON)
	if err != nil {
		return // whether the plugin can read it shows in its calls
	}
	m := token.FindSubmatch(b)
	if m == nil {
		return
	}
	claims, err := base64.RawURLEncoding.DecodeString(string(m[1]))
	if err != nil {
		return
	}
	var times struct {
		Issued  int64 `json:"iat"`
		Expires int64 `json:"exp"`
	}
	if json.Unmarshal(claims, &times) != nil || times.Expires < 0 || times.Expires > lastSecond || times.Issued < 0 || times.Issued > times.Expires {
		return
	}
	c.Issued, c.Expires = model.Time(times.Issued), model.Time(times.Expires)
}
