package render

func (p *printer) bold(s string) string   { return p.paint("1", s) }
func (p *printer) red(s string) string    { return p.paint("31;1", s) }
func (p *printer) yellow(s string) string { return p.paint("33", s) }

func (p *printer) paint(code, s string) string {
	if !p.o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
