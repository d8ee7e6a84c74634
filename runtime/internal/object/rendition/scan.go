package rendition

import "bytes"

// Members walks over the members of a JSON object, beginning at data[at] just behind its "{", and calls visit with each
// key (without quotes, escapes untouched) and the span of its value, until visit returns false. It reports whether the
// walk ended that way or at the object's "}"; data that is not JSON gives false and never a panic. A visit that walks
// over the value reads it again: where values may nest deep, see EachMember.
func Members(data []byte, at int, visit func(key []byte, start, end int) bool) bool {
	ended := false
	behind := EachMember(data, at, func(key []byte, start int) int {
		end := Skip(data, start)
		if end >= 0 && !visit(key, start, end) {
			ended = true
			return -1
		}
		return end
	})
	return ended || behind >= 0
}

// Elements walks over the elements of a JSON list, beginning at data[at] just behind its "[", as Members does.
func Elements(data []byte, at int, visit func(start, end int) bool) bool {
	ended := false
	behind := EachElement(data, at, func(start int) int {
		end := Skip(data, start)
		if end >= 0 && !visit(start, end) {
			ended = true
			return -1
		}
		return end
	})
	return ended || behind >= 0
}

// EachMember walks over the members of a JSON object, beginning at data[at] just behind its "{". visit gets each key
// (without quotes, escapes untouched) and the index of its value, and returns the index behind the value, as Skip does,
// or -1 to end the walk. So each byte is read once, however deep values nest. EachMember returns the index behind the
// object's "}", or -1 where the walk ended before.
func EachMember(data []byte, at int, visit func(key []byte, start int) (end int)) int {
	i := space(data, at)
	if i < len(data) && data[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return -1
		}
		keyEnd := skipString(data, i)
		if keyEnd < 0 {
			return -1
		}
		key := data[i+1 : keyEnd-1]
		i = space(data, keyEnd)
		if i >= len(data) || data[i] != ':' {
			return -1
		}
		if i = visit(key, space(data, i+1)); i < 0 {
			return -1
		}
		i = space(data, i)
		switch {
		case i >= len(data):
			return -1
		case data[i] == '}':
			return i + 1
		case data[i] != ',':
			return -1
		}
		i = space(data, i+1)
	}
}

// EachElement walks over the elements of a JSON list, beginning at data[at] just behind its "[", as EachMember does.
func EachElement(data []byte, at int, visit func(start int) (end int)) int {
	i := space(data, at)
	if i < len(data) && data[i] == ']' {
		return i + 1
	}
	for {
		if i = visit(i); i < 0 {
			return -1
		}
		i = space(data, i)
		switch {
		case i >= len(data):
			return -1
		case data[i] == ']':
			return i + 1
		case data[i] != ',':
			return -1
		}
		i = space(data, i+1)
	}
}

// Member finds one member of the object whose first member begins at data[at].
func Member(data []byte, at int, name string) (start, end int, ok bool) {
	Members(data, at, func(key []byte, s, e int) bool {
		if string(key) != name {
			return true
		}
		start, end, ok = s, e, true
		return false
	})
	return start, end, ok
}

// InsideMetadata is just behind the "{" of the metadata of the object whose first member begins at data[at].
func InsideMetadata(data []byte, at int) (inside int, ok bool) {
	start, _, ok := Member(data, at, MetadataKey)
	if !ok || data[start] != '{' {
		return 0, false
	}
	return start + 1, true
}

// MetadataMember finds one member of the metadata of the object whose first member begins at data[at].
func MetadataMember(data []byte, at int, name string) (start, end int, ok bool) {
	inside, ok := InsideMetadata(data, at)
	if !ok {
		return 0, 0, false
	}
	return Member(data, inside, name)
}

func space(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index behind the string that begins at data[i], or -1.
func skipString(data []byte, i int) int {
	for i++; i < len(data); i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		escapes := 0
		for j := i - 1; j >= 0 && data[j] == '\\'; j-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return -1
}

// Skip returns the index behind the value that begins at data[i], or -1.
func Skip(data []byte, i int) int {
	if i >= len(data) {
		return -1
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		return skipNested(data, i)
	}
	begin := i
	for i < len(data) && !endsLiteral(data[i]) {
		i++
	}
	if i == begin {
		return -1
	}
	return i
}

func endsLiteral(c byte) bool {
	switch c {
	case ',', ']', '}', ':', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

func skipNested(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			if i = skipString(data, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// TypeOf reads kind and apiVersion of an object, wherever they stand.
func TypeOf(data []byte) (apiVersion, kind string) {
	at := space(data, 0)
	if at >= len(data) || data[at] != '{' {
		return "", ""
	}
	Members(data, at+1, func(key []byte, start, end int) bool {
		if end-start < 2 || data[start] != '"' {
			return true
		}
		switch string(key) {
		case "apiVersion":
			apiVersion = string(data[start+1 : end-1])
		case "kind":
			kind = string(data[start+1 : end-1])
		}
		return apiVersion == "" || kind == ""
	})
	return apiVersion, kind
}

// Nesting returns the depth of JSON. What it returns for data that is not JSON is at least the depth up to the fault.
func Nesting(data []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch char := data[i]; {
		case inString && char == '\\':
			i++
		case char == '"':
			inString = !inString
		case inString:
		case char == '{' || char == '[':
			depth++
			deepest = max(deepest, depth)
		case char == '}' || char == ']':
			depth--
		}
	}
	return deepest
}
