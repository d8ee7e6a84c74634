// Package recorded compares the server with a kube-apiserver: its tests replay what a kube-apiserver answered.
//
// A file of testdata/writes has the writes of one kind. Its first lines name the collection, and an object:
//
//	path /api/v1/namespaces/writes/pods
//	base {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},...}
//
// Each write changes the object by a JSON merge patch: "create" creates the object so changed, "update" changes a
// stored one, and "update/status" its subresource. All writes are dry runs. "table" reads what kubectl get prints of
// the stored object, with the columns of -o wide. Lines that begin with "=" or a blank are the
// answer of kube-apiserver: an error, or the object, without what differs by nature.
//
// Where ours differs on purpose, a line behind that begins with "!" says why, and lines that begin with "|" are ours.
//
// The build tag record makes the tests write the answers of the kube-apiserver that KUBE_APISERVER names.
package recorded
