// Package v1 has one kind for each family of fields that clients may leave out.
//
// +groupName=agreement.example.com
package v1
