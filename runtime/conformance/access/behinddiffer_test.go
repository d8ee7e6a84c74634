package access

// difference is where ours does something else, on purpose.
type difference struct{ ours, why string }

// differences are known by the names of rows.
var differences = map[string]difference{}
