package web

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"plumbline.dev/plumbline/internal/plain"
)

// An Answer is a page from elsewhere.
type Answer struct {
	Status int
	Body   io.ReadCloser
}

// flagsParam is the query parameter by which Remote tells the flags that the caller's commands need, and mostFlags how long
// they may be.
const (
	flagsParam = "flags"
	mostFlags  = 2000
)

// Remote serves the pages of a UI elsewhere, which get asks for one; their commands have the caller's flags. A page that ends before its end is cut off here too:
// it must not look whole.
func Remote(flags string, get func(ctx context.Context, path string, query url.Values) (Answer, error)) http.Handler {
	return headers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		q := r.URL.Query()
		q.Del(flagsParam) // a link must not write commands
		if flags != "" {
			q.Set(flagsParam, flags)
		}
		a, err := get(r.Context(), strings.TrimPrefix(r.URL.Path, "/"), q)
		if err != nil {
			http.Error(w, "The controller was not reached: "+plain.Line(err.Error()), http.StatusBadGateway)
			return
		}
		defer func() { _ = a.Body.Close() }()
		w.Header().Set("Content-Type", typeOf(r.URL.Path))
		w.WriteHeader(a.Status)
		out := http.NewResponseController(w)
		buffer := make([]byte, 32<<10)
		for {
			n, err := a.Body.Read(buffer)
			if n > 0 {
				if _, err := w.Write(buffer[:n]); err != nil || out.Flush() != nil {
					return
				}
			}
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				panic(http.ErrAbortHandler)
			}
		}
	}))
}

// typeOf is the type of what is served at a path.
func typeOf(at string) string {
	switch {
	case at == "/live":
		return "text/event-stream"
	case path.Ext(at) != "":
		return mime.TypeByExtension(path.Ext(at))
	default:
		return "text/html; charset=utf-8"
	}
}
