"""Where the reference engine answers otherwise than MXNet 1.9.1, by pattern, each with its reason."""

from __future__ import annotations

DIFFERENCES = {
    'nd.erfinv(i)': 'outside -1..1 the inverse error function is NaN, and NaN as a whole number is the smallest one',
    'nd.softmax(odd)': 'NaN and infinity in a row make the whole row NaN; the release keeps some zeros',
    'nd.log_softmax(odd)': 'as for softmax',
    'nd.norm(a,out_dtype="float64")': 'the release refuses a wider result on CPU',
    'nd.reshape(x3,shape=(5,5),*': 'the release reads past the end (rule ND-RESHAPE-003)',
    '*reshape(*(6,1,-2)*reverse=True)': 'the release makes a shape with another number of elements',
    'nd.reshape(x3,shape=*': 'the release takes a shape with another number of elements and ends',
    'x3.reshape((*': 'code -1 beside codes that already use all elements gives an axis of length 1',
    'x3.transpose(1,0,2)': 'axes may be given one by one, as to the function of numpy',
    'nd.flip(x3,axis=-1)': 'negative axes count from the end everywhere',
    'nd.batch_take(a,nd.array([0,2]))': 'positions may be of any number type, as for take',
    'nd.pick(a,nd.array([0]),axis=None)': 'works as documented; the release has not implemented it',
    'G(lambda x: x**0,*': 'the derivative of a constant is 0, at 0 as well; the release gives NaN',
    'G(lambda x: nd.sort(x),*': 'sort is differentiable (AUTOGRAD-OPGRAD-008); the release misses a parameter',
    '*[2:1]': 'an empty slice gives an empty array (rule ND-INDEX-003)',
    '*[:,1:1]': 'an empty slice gives an empty array (rule ND-INDEX-004)',
    '*[[]]': 'an empty list of positions gives no rows (rule ND-INDEX-013)',
    'nd.contrib.getnnz': 'counts stored elements of sparse arrays, which come with the sparse storage types',
    'nd.amp_multicast(*': 'works; the release fails in its CPU library',
    'C.fft(a)': 'works on every device; the release has it for GPUs only',
    'nd.image.random_saturation(*': 'the grey of a pixel is that of all its colours; the release takes the blue alone',
}
