package parse

import (
	"bytes"
	"encoding/json"
	"strconv"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// decode reads a line of an audit log. scan visits only the members that are used, because
// encoding/json reads every byte twice; encoding/json is used where scan fails.
func (a *auditLine) decode(text []byte) bool {
	if a.scan(text) {
		return true
	}
	*a = auditLine{}
	return json.Unmarshal(text, a) == nil
}

// scan gives the same as encoding/json, or false. Keys must be spelled as the API server writes
// them. RequestObject aliases text.
func (a *auditLine) scan(text []byte) bool {
	return members(text, func(key, val []byte) bool {
		switch string(key) {
		case "verb":
			return plainText(val, &a.Verb)
		case "userAgent":
			return plainText(val, &a.UserAgent)
		case "stageTimestamp":
			return plainText(val, &a.StageTimestamp)
		case "user":
			return memberText(val, "username", &a.User.Username)
		case "objectRef":
			return members(val, a.scanObject)
		case "responseStatus":
			return members(val, func(key, val []byte) bool {
				return string(key) != "code" || plainNumber(val, &a.ResponseStatus.Code)
			})
		case "requestObject":
			a.RequestObject = val
		}
		return true
	})
}

func (a *auditLine) scanObject(key, val []byte) bool {
	o := &a.ObjectRef
	switch string(key) {
	case "resource":
		return plainText(val, &o.Resource)
	case "subresource":
		return plainText(val, &o.Subresource)
	case "namespace":
		return plainText(val, &o.Namespace)
	case "name":
		return plainText(val, &o.Name)
	case "uid":
		return plainText(val, &o.UID)
	}
	return true
}

// decode reads a body as far as possible.
func (p *podBody) decode(body []byte) {
	if len(body) == 0 || p.scan(body) {
		return
	}
	*p = podBody{}
	_ = json.Unmarshal(body, p)
}

// scan is as auditLine.scan. It reads only the annotations that are used.
func (p *podBody) scan(body []byte) bool {
	return members(body, func(key, val []byte) bool {
		switch string(key) {
		case "gracePeriodSeconds":
			p.GracePeriodSeconds = new(int)
			return plainNumber(val, p.GracePeriodSeconds)
		case "preconditions":
			return memberText(val, "uid", &p.Preconditions.UID)
		case "target":
			return memberText(val, "name", &p.Target.Name)
		case "spec":
			return memberText(val, "nodeName", &p.Spec.NodeName)
		case "status":
			return memberText(val, "podIP", &p.Status.PodIP)
		case "metadata":
			return memberText(val, "uid", &p.Metadata.UID) && members(val, func(key, val []byte) bool {
				return string(key) != "annotations" || members(val, p.scanAnnotation)
			})
		}
		return true
	})
}

func (p *podBody) scanAnnotation(key, val []byte) bool {
	if k := string(key); k != annotatedIP && k != annotatedContainer {
		return true
	}
	if p.Metadata.Annotations == nil {
		p.Metadata.Annotations = map[string]*string{}
	}
	var text *string
	if string(val) != "null" {
		text = new(string)
		if !plainText(val, text) {
			return false
		}
	}
	p.Metadata.Annotations[string(key)] = text
	return true
}

// memberText reads one string member of an object.
func memberText(object []byte, name string, to *string) bool {
	return members(object, func(key, val []byte) bool { return string(key) != name || plainText(val, to) })
}

// members visits an object's members, as long as their keys are plain.
func members(text []byte, visit func(key, val []byte) bool) bool {
	return records.Members(text, func(key, val []byte) bool {
		return bytes.IndexByte(key, '\\') < 0 && visit(key, val)
	})
}

// plainText reads a string that is ASCII without escapes.
func plainText(val []byte, to *string) bool {
	if len(val) < 2 || val[0] != '"' {
		return false
	}
	val = val[1 : len(val)-1]
	for _, c := range val {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	*to = string(val)
	return true
}

func plainNumber(val []byte, to *int) bool {
	n, err := strconv.Atoi(string(val))
	*to = n
	return err == nil && val[0] != '+'
}
