package kube

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const tokenSeconds = 600

// AgentToken requests a token of one of Plumbline's service accounts, valid for ten minutes
// and only for that audience of agents. at is the API server's time.
func (c *Client) AgentToken(ctx context.Context, namespace, account, audience string) (token string, at time.Time, err error) {
	if audience != agentAudience && !strings.HasPrefix(audience, agentAudience+"/") {
		return "", at, fmt.Errorf("%.80q is not an audience of agents", audience) // a token with the API server's own audience would give access to it
	}
	return c.token(ctx, namespace, account, []string{audience})
}

// AccountToken requests a token of one of Plumbline's service accounts for the API server itself,
// valid for ten minutes. at is the API server's time.
func (c *Client) AccountToken(ctx context.Context, namespace, account string) (token string, at time.Time, err error) {
	return c.token(ctx, namespace, account, nil)
}

// OwnToken is the token in the kubeconfig, if it has one.
func (c *Client) OwnToken() string {
	if c.cfg == nil {
		return ""
	}
	return c.cfg.BearerToken
}

// CredentialID is the API server's name of a token of a service account, as admission policies
// see it; empty if it has none.
func CredentialID(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		ID string `json:"jti"`
	}
	if err != nil || json.Unmarshal(b, &claims) != nil || claims.ID == "" || strings.ContainsAny(claims.ID, " \n") {
		return ""
	}
	return "JTI=" + claims.ID
}

func (c *Client) token(ctx context.Context, namespace, account string, audiences []string) (token string, at time.Time, err error) {
	if err := CheckNames(namespace, account); err != nil {
		return "", at, err
	}
	type spec struct {
		Audiences         []string `json:"audiences,omitempty"`
		ExpirationSeconds int      `json:"expirationSeconds"`
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec{audiences, tokenSeconds},
	})
	if err != nil {
		return "", at, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	path := "/api/v1/namespaces/" + namespace + "/serviceaccounts/" + account + "/token"
	resp, err := c.send(ctx, c.http, Request{Method: http.MethodPost, Path: path, Accept: AcceptJSON, Body: body})
	if err != nil {
		return "", at, err
	}
	defer func() { _ = resp.Body.Close() }()
	if at, err = http.ParseTime(resp.Header.Get("Date")); err != nil {
		return "", at, fmt.Errorf("create %s: no time in the answer: %w", path, err)
	}
	var o struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxObject)).Decode(&o); err != nil {
		return "", at, fmt.Errorf("create %s: %w", path, err)
	}
	if o.Status.Token == "" {
		return "", at, fmt.Errorf("create %s: no token in the answer", path)
	}
	return o.Status.Token, at, nil
}
