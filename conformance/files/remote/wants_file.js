import 'file:///etc/hostname';
