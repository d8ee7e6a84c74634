// +apigen:groups
package apis
