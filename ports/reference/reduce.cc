// reduce
