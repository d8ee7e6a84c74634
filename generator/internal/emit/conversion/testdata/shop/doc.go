// +groupName=shop.example.com

// Package shop is the internal version of the golden test's group.
package shop
