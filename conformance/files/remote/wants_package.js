import _ from 'lodash';
