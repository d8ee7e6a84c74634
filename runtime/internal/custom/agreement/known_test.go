package agreement_test

// texts are values of the strings of each kind.
var texts = map[string][]string{
	"Sign":   {"", "x", "ab", "abc"},
	"Poster": {"", "x", "ab"},
	"Meter":  {"1m0s", "60s", "5s", "0s"},
	"Knot":   {"", "x", "5s", "10.0.0.1"},

	"Leaflet": {
		"", "x", "abc", "10.0.0.1", "::ffff:10.0.0.1", "fe80::1%a", "1h", "1 day", "YWJj\n", "2026-01-02t03:04:05z",
	},
}

// chosen are objects that show one case each.
var chosen = map[string][]string{
	"Sign": {
		`{"spec":{"logo":{}}}`, `{"spec":{"place":""}}`, `{"spec":{"frame":{}}}`, `{"spec":{"margin":{}}}`,
		`{"spec":{"lines":[{"text":"a","logo":{}}]}}`, `{"spec":{"lines":[null]}}`, `{"spec":{"title":null}}`,
		`{"spec":{"back":null,"note":null,"inner":{"name":""},"lamps":[{"name":"a","margin":{}}]}}`,
		`{"spec":{"frame":{"width":0,"color":"red"},"border":{"width":0,"color":"red"}}}`,
		`{"spec":{"lines":[{"text":"a","frame":{"width":0,"color":"red"}}]}}`,
		`{"spec":{"parts":{"key-a":{"text":"a","frame":{"width":0,"color":"red"}}}}}`,
		`{"spec":{"title":"ab","logo":{"name":""}}}`, `{"spec":{"parts":{"key-a":{"text":"a","logo":{"name":""}}}}}`,
		`{"spec":{"parts":{"key-a":null}}}`, `{"spec":{"lamps":[{"name":""},{}]}}`,
		`{"spec":{"light":""}}`, `{"spec":{"photo":""}}`, `{"spec":{"mount":{}}}`, `{"spec":{"mount":{"pole":{}}}}`,
		`{"spec":{"mount":{"pole":{},"rest":{},"bolts":0}}}`, `{"spec":{"mount":{"bolts":3,"rest":{"width":1}}}}`,
		`{"spec":{"mount":{"pole":{},"rest":{}}}}`,
		`{"spec":{"sketches":[""]}}`, `{"spec":{"sketches":["YQ==",null]}}`, `{"spec":{"layers":[["YQ=="],[""]]}}`,
		`{"spec":{"named":{"key-a":""}}}`, `{"spec":{"named":{"key-a":"YQ==","key-b":"x"}}}`, `{"spec":{"proof":""}}`,
	},
	"Poster": {
		`{"spec":{"hue":"red"}}`, `{"spec":{"logo":{"name":""}}}`, `{"spec":{"hue":"red","logo":{}}}`,
		`{"spec":{"hue":"red","sheets":[null]}}`, `{"spec":{"sheets":[{"size":{}}]}}`,
		`{"spec":{"sheets":[{"size":{"height":0,"width":1}},{"size":{"height":1,"width":0}}]}}`,
		`{"spec":{},"status":{"conditions":[null]}}`, `{"spec":{},"status":{"conditions":[]}}`,
		`{"spec":{"border":{"sides":[]}}}`,
		`{"spec":{"back":{}}}`, `{"spec":{"back":{"text":""}}}`, `{"spec":{"back":{"marks":[]}}}`,
		`{"spec":{"sheets":[{"size":{},"scale":1}]}}`, `{"spec":{"places":[]}}`,
		`{"spec":{"free":{"text":"abcdef"}}}`, `{"spec":{"free":{"marks":["a"]}}}`,
	},
	"Leaflet": {
		`{"spec":{"grade":7}}`, `{"spec":{"grade":3,"label":"abc"}}`, `{"spec":{"sizes":[1,1]}}`,
		`{"spec":{"sizes":[1,2,3]}}`, `{"spec":{"format":{"width":5}}}`, `{"spec":{"sizes":[2,1],"label":"ab"}}`,
		`{"spec":{"server":"","host":"","shown":"","code":"","printed":""}}`, `{"spec":{"readers":[""]}}`,
		`{"spec":{"server":"::ffff:10.0.0.1"}}`, `{"spec":{"readers":["::ffff:10.0.0.1"]}}`,
		`{"spec":{"readers":["fe80::1%a"]}}`, `{"spec":{"shown":"1 day"}}`, `{"spec":{"code":"YWJj\n"}}`,
		`{"spec":{"printed":"2026-01-02t03:04:05z"}}`, `{"spec":{"host":"a_b"}}`, `{"spec":{"host":"a.b"}}`,
		`{"spec":{"cover":{},"back":{}}}`, `{"spec":{"cover":{"name":"","gloss":false},"back":{"folds":0}}}`,
		`{"spec":{"cover":{"name":"x"},"back":{"name":"","paper":""}}}`, `{"spec":{"cover":null,"back":null}}`,
		`{"spec":{"pages":[{},{"size":{}},{"size":{"width":0}},{"size":{"height":1}}]}}`,
		`{"spec":{"inserts":{"key-a":{"size":{}},"key-b":{}}}}`,
		`{"spec":{"notes":[{"name":"x"},{"name":"x","text":"abc"}]}}`, `{"spec":{"notes":[]}}`,
		`{"spec":{"cards":[{"metadata":{"finalizers":["x","x"]}},{"metadata":{"labels":{"key-a":"x"}}}]}}`,
	},
	"Knot": {
		`{}`, `{"spec":{}}`, `{"spec":{"loop":{}}}`, `{"spec":{"rope":{},"tie":{"pull":1,"push":0}}}`,
		`{"spec":{"rope":{},"tie":{}}}`, `{"spec":{"rope":{}},"status":{"tight":true}}`,
		`{"spec":{"rope":{},"slack":1,"loops":[{},{"ends":1},{"slack":0},{"name":""}],"loop":{"ends":1}}}`,
		`{"spec":{"rope":{},"raw":null,"text":null,"raws":{"key-a":null,"key-b":{"a":null},"key-c":"x"}}}`,
		`{"spec":{"rope":{},"raw":{"a":1},"text":"5s","raws":{"key-a":[1,null]}}}`,
		`{"spec":{"rope":{},"coils":[{"key-a":[0],"key-b":null},{},{"key-a":null}]}}`,
		`{"spec":{"rope":{},"turned":{"key-a":{"key-a":null},"key-b":{"key-a":1,"key-b":null}}}}`,
		`{"spec":{"rope":{},"weights":["1",null]}}`, `{"spec":{"rope":{},"marks":[[1,null,"a"]]}}`,
		`{"spec":{"rope":{},"seen":["2026-01-02T03:04:05Z",null]}}`,
		`{"spec":{"rope":{},"bag":{},"dotted.count":0}}`, `{"spec":{"rope":{},"dotted.count":null}}`,
		`{"spec":{"rope":{},"loop":{"at":{"address":""}}}}`, `{"spec":{"rope":{},"loop":{"at":{}}}}`,
		`{"spec":{"rope":{},"loop":{"at":{"pull":1,"push":0,"open":false}}}}`,
		`{"spec":{"rope":{},"eased":false}}`, `{"spec":{"rope":{},"reason":"","slips":0}}`,
		`{"spec":{"rope":{},"hold":{}}}`, `{"spec":{"rope":{},"hold":{"seal":{"text":"abc"}}}}`,
		`{"spec":{"rope":{},"knob":{}}}`, `{"spec":{"rope":{},"knob":{"grade":0}}}`,
		`{"spec":{"rope":{},"start":{}}}`, `{"spec":{"rope":{},"start":{"left":0}}}`,
		`{"spec":{"rope":{},"start":null}}`, `{"spec":{"rope":{},"seizing":{"round":null}}}`,
		`{"spec":{"rope":{},"hitch":{}}}`, `{"spec":{"rope":{},"hitch":{"turns":0}}}`,
		`{"spec":{"rope":{},"store":{"stock":{"key-a":null}}}}`, `{"spec":{"rope":{},"store":{"stock":{}}}}`,
		`{"spec":{"rope":{},"store":{"stock":{"key-a":null},"name":"x"}}}`,
		`{"spec":{"rope":{},"bight":{}}}`,
		`{"spec":{"rope":{},"splices":[{"name":"a"}]}}`, `{"spec":{"rope":{},"splices":[{"name":"a","whipped":0}]}}`,
		`{"spec":{"rope":{},"splices":[{"name":"a","melted":"","glued":false},{"name":"b","whipped":0,"melted":""}]}}`,
		`{"spec":{"rope":{},"splices":[{"name":"a","melted":"x","taped":false},` +
			`{"name":"b","whipped":1,"taped":false,"clamped":""}]}}`,
		`{"spec":{"rope":{},"splices":[{"name":"a","melted":"x","tucked":null,"tie":null},` +
			`{"name":"b","whipped":1,"tucked":false}]}}`,
	},
	"Meter": {
		`{"spec":{"delay":"100s"}}`, `{"spec":{"timeout":"x"}}`, `{"spec":{"timeout":"0s"}}`,
		`{"spec":{"waits":[{"of":"a"}]}}`, `{"spec":{"waits":[null]}}`,
		`{"spec":{"source":{"store":{}}}}`, `{"spec":{"source":{}}}`, `{"spec":{"source":{"wide":false}}}`,
		`{"spec":{"source":{"name":"","wide":true}}}`, `{"spec":{"sources":[{},{"name":"","wide":false},` +
			`{"name":"","wide":false,"glass":{"width":1}}]}}`, `{"spec":{"either":{"left":"","over":[]}}}`,
		`{"spec":{"either":{"left":"","right":{"of":""}}}}`, `{"spec":{"either":{"over":[]}}}`,
		`{"spec":{"either":{}}}`, `{"spec":{"either":{"right":{"of":""},"over":[],"middle":{"digits":1}}}}`,
		`{"spec":{"lens":{"tint":"ab","width":1}}}`,
		`{"spec":{"face":""}}`, `{"spec":{"glass":{}}}`, `{"spec":{"glass":{"tint":"","width":0,"form":""}}}`,
		`{"spec":{"glass":{"width":0}}}`, `{"spec":{"panes":[{"tint":"","width":1}]}}`,
		`{"spec":{"glass":{"width":1}}}`, `{"spec":{"glass":{"width":1,"form":""}}}`,
		`{"spec":{"port":null,"timeout":"5s"}}`,
		`{"spec":{"delay":null,"timeout":null}}`, `{"spec":{"waits":[{"of":"a","for":null}]}}`,
		`{"spec":{"place":"","readings":{"key-a":{"digits":1,"times":0}}}}`,
	},
}

// changes are objects of which the second replaces the first.
var changes = map[string][2]string{
	"Leaflet": {`{"spec":{"grade":2}}`, `{"spec":{"grade":2,"tape":{"wide":1}}}`},
	"Meter":   {`{"spec":{"delay":"60s"}}`, `{"spec":{"delay":"1m0s"}}`},
	"Sign":    {`{"spec":{"lines":[{"text":"a"}]}}`, `{"spec":{"lines":[]}}`},
	"Poster":  {`{"spec":{"logo":{"name":"a"},"hue":"red"}}`, `{"spec":{"logo":{},"hue":"red"}}`},
}

// decoding is the reason of the differences that are left.
const decoding = "the Go type can't hold the value"

// known are the differences that are left, by kind and reason.
var known = map[string]map[string][]string{
	"Meter": {
		decoding: {
			`only the type refuses what it can't decode`,
		},
	},
	"Knot": {
		decoding: {
			`only the type refuses what it can't decode`,
		},
	},
	"Leaflet": {},
	"Poster":  {},
	"Sign":    {},
}
