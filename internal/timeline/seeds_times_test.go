package timeline_test

import (
	"strconv"
	"strings"
	"time"
)

// layouts are how the stamps of each kind are written, but for their fractions.
var layouts = map[string]string{
	"rfc": "2006-01-02T15:04:05", "printed": "2006-01-02 15:04:05 -0700", "bracket": "2006-01-02 15:04:05", "slashes": "2006/01/02 15:04:05",
	"syslog": "Jan 02 15:04:05", "klog": "0102 15:04:05", "clock": "15:04:05",
}

// stamp moves a stamp to another time and zone, and writes it as it was written.
func (d *disguise) stamp(p piece) string {
	text, before, after := p.text, "", ""
	if p.kind == "klog" {
		before, text = text[:len(text)-len("0102 15:04:05.000000")], text[len(text)-len("0102 15:04:05.000000"):]
	}
	text, name, named := strings.Cut(text, " CST")
	if named {
		after = " TST" + name
	}
	layout := layouts[p.kind]
	zone := d.zone
	if p.kind == "rfc" {
		layout += "Z07:00"
		if strings.HasSuffix(text, "Z") {
			zone = time.UTC // whoever writes so does everywhere
		}
	}
	if i := strings.IndexByte(text, '.'); i >= 0 {
		digits := len(text[i+1:]) - len(strings.TrimLeft(text[i+1:], "0123456789"))
		layout = strings.Replace(layout, "05", "05."+strings.Repeat("0", digits), 1)
	}
	if p.kind == "klog" {
		layout = "0102 15:04:05.000000"
	}
	yearless := p.kind == "klog" || p.kind == "syslog"
	in, with := layout, text
	if yearless {
		in, with = "2006 "+layout, strconv.Itoa(d.year)+" "+text
	}
	t, err := time.ParseInLocation(in, with, china)
	if err != nil {
		panic(err)
	}
	return before + t.Add(d.shift).In(zone).Format(layout) + after
}
